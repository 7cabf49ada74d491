import JacquardProtocol
import Testing

@Suite("TagCharacteristic")
struct TagCharacteristicTests {
    @Test(
        "has the UUID of the tag's service with its own number",
        arguments: [
            (.command, "d2f2eabb"), (.response, "d2f2b8d0"), (.notify, "d2f2b8d1"), (.rawData, "d2f2b8d2"),
        ] as [(TagCharacteristic, String)])
    func uuid(characteristic: TagCharacteristic, number: String) {
        #expect(characteristic.uuid == number + JacquardService.uuid.dropFirst(8))
        #expect(TagCharacteristic(rawValue: characteristic.uuid) == characteristic)
    }

    @Test("is subscribed to unless it carries commands")
    func notifying() {
        #expect(Set(TagCharacteristic.notifying) == Set(TagCharacteristic.allCases).subtracting([.command]))
    }
}
