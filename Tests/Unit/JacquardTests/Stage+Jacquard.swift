import EventLoop
import TagStage

@testable import Jacquard

extension Stage {
    /// The interface of the SDK above the manager.
    var jacquard: JacquardManager {
        if let manager = above as? JacquardManager { return manager }
        let manager = JacquardManager(manager)
        above = manager
        return manager
    }
}
