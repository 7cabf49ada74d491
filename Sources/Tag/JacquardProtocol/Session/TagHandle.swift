/// The name of a tag inside the process. Its serial, address and id are looked up at the edges only.
///
/// The owner of the tags gives the handles. The handle of a removed tag is given again as late as possible, because events of that
/// tag may be on their way.
public struct TagHandle: Hashable, Sendable {
    /// The number: 1 to 65,535, or 0 for no tag.
    public let number: UInt16

    /// Creates a handle.
    public init(number: UInt16) {
        self.number = number
    }

    /// No tag.
    public static let none = TagHandle(number: 0)
    /// The numbers for the tags of a bridge.
    public static let ofBridge: ClosedRange<UInt16> = 1...32_767
    /// The numbers for the tags of the SDK's interface.
    public static let ofInterface: ClosedRange<UInt16> = 32_768...65_535

    /// Returns the next unused handle after this one, and after the last number of a range its first one.
    ///
    /// - Parameters:
    ///   - numbers: the range.
    ///   - isUsed: whether a handle is used.
    /// - Returns: the handle; ``none`` if all are used.
    public func next(in numbers: ClosedRange<UInt16>, isUsed: (TagHandle) -> Bool) -> TagHandle {
        var next = self
        for _ in numbers {
            let isInside = numbers.contains(next.number) && next.number < numbers.upperBound
            next = TagHandle(number: isInside ? next.number + 1 : numbers.lowerBound)
            if !isUsed(next) { return next }
        }
        return .none
    }
}
