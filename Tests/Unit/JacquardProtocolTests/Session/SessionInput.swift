import JacquardProtocol
import Time

/// One thing that can happen to a session.
enum SessionInput: Equatable, Sendable {
    case connect(TagSession.RetryRule)
    case pair
    case bonded
    case bondingFailed(TagConnectionError)
    case disconnect
    case poweredOff
    case linkUp
    case linkDown(TagConnectionError?)
    case lossCorrected(TagConnectionError)
    case pauseEnded
    case discovered(TagSession.Properties)
    case discoveryFailed(TagConnectionError)
    case mtuChanged(Int)
    case subscribed
    case subscribeFailed(TagConnectionError)
    case written
    case writeFailed(TagConnectionError, isNotPermitted: Bool)
    case writeUnsent(TagConnectionError)
    case received([UInt8], on: TagCharacteristic)
    case command(TagCommand, token: UInt64)
    case deadline
}

extension TagSession {
    /// Lets it happen.
    mutating func take(_ input: SessionInput, at now: Instant) -> [Action] {
        switch input {
        case .connect(let rule): connect(retrying: rule, at: now)
        case .pair: connect(bonding: true, at: now)
        case .bonded: bonded(at: now)
        case .bondingFailed(let error): bondingFailed(error, at: now)
        case .disconnect: disconnect(at: now)
        case .poweredOff: poweredOff(TagConnectionError(.bluetoothPowerOff, "Bluetooth is off"), at: now)
        case .linkUp: linkUp(at: now)
        case .linkDown(let error): linkDown(error, at: now)
        case .lossCorrected(let error): correctLoss(error)
        case .pauseEnded: endPause(at: now)
        case .discovered(let properties): discovered(properties, at: now)
        case .discoveryFailed(let error): discoveryFailed(error, at: now)
        case .mtuChanged(let mtu): mtuChanged(to: mtu)
        case .subscribed: subscribed(at: now)
        case .subscribeFailed(let error): subscribeFailed(error, at: now)
        case .written: written(at: now)
        case .writeFailed(let error, let isNotPermitted):
            writeFailed(error, isNotPermitted: isNotPermitted, at: now)
        case .writeUnsent(let error): writeFailed(error, isNotPermitted: false, isUnsent: true, at: now)
        case .received(let value, let characteristic): received(value, on: characteristic, at: now)
        case .command(let command, let token): enqueue(command, token: token, at: now)
        case .deadline: deadlineReached(at: now)
        }
    }
}
