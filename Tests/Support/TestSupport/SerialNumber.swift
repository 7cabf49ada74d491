/// The serial that the simulator gives to a tag, such as `0007`.
///
/// - Parameter number: counted from 1.
/// - Returns: four digits, or more from 10000 on.
public func simulatedSerial(_ number: Int) -> String {
    String("000\(number)".suffix(max(4, "\(number)".count)))
}
