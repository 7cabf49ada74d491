import JacquardProtocol
import Testing

@Suite("Handles")
struct TagHandleTests {
    @Test("are given in order, without the used ones, and again after the last one")
    func order() {
        let used: Set<UInt16> = [3, 5]
        var (handle, numbers) = (TagHandle.none, [UInt16]())
        for _ in 0..<4 {
            handle = handle.next(in: 2...5) { used.contains($0.number) }
            numbers.append(handle.number)
        }
        #expect(numbers == [2, 4, 2, 4])
    }

    @Test("are none if all are used, and start in their range")
    func ends() {
        #expect(TagHandle(number: 4).next(in: 2...5) { _ in true } == .none)
        #expect(TagHandle(number: 9).next(in: 2...5) { _ in false } == TagHandle(number: 2))
        #expect(TagHandle(number: 5).next(in: 2...5) { _ in false } == TagHandle(number: 2))
        #expect(TagHandle.none.next(in: TagHandle.ofBridge) { _ in false } == TagHandle(number: 1))
        #expect(!TagHandle.ofBridge.overlaps(TagHandle.ofInterface))
    }
}
