import Glibc

/// A place in metres. Adapters and tags have one each if the simulator has places.
public struct Place: Hashable, Sendable {
    /// To the right.
    public var x: Double
    /// Upwards.
    public var y: Double

    /// Creates a place.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Parses two numbers with a comma between them, such as `8,3.5`.
    init?(_ text: some StringProtocol) {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard numbers.count == 2, let x = numbers[0], let y = numbers[1], abs(x) <= 10_000, abs(y) <= 10_000 else {
            return nil
        }
        self.init(x: x, y: y)
    }

    /// The strength in dBm with which a tag is received in a building; nil out of range.
    ///
    /// The strength falls by 30 dB for each factor of ten in distance. Source: ITU-R P.1238, "Site-general model".
    func strength(of tag: Place) -> Int16? {
        let (dx, dy) = (x - tag.x, y - tag.y)
        let distance = max(1, (dx * dx + dy * dy).squareRoot())
        let strength = -45 - 30 * log10(distance)
        return strength < -90 ? nil : Int16(strength.rounded())
    }
}
