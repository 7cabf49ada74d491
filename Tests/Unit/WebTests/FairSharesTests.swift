import Testing

@testable import Web

@Suite("Fair shares")
struct FairSharesTests {
    @Test("keep all entries of all owners while there is room")
    func room() {
        var shares = FairShares<String, Int>(total: 5)
        for entry in 1...3 { #expect(shares.add(entry, of: "a") == nil) }
        for entry in 4...5 { #expect(shares.add(entry, of: "b") == nil) }
        #expect(shares.count == 5)
    }

    @Test("the owner with the most entries loses his oldest one, whoever adds one")
    func most() {
        var shares = FairShares<String, Int>(total: 5)
        _ = shares.add(0, of: "b")
        for entry in 1...4 { _ = shares.add(entry, of: "a") }
        #expect(shares.add(5, of: "a") == 1)
        #expect(shares.add(6, of: "b") == 2)
        #expect(shares.add(7, of: "c") == 3)
        #expect(shares.count == 5)
    }

    @Test("an owner who has less than others never loses an entry, however many they add")
    func flood() {
        var shares = FairShares<String, Int>(total: 48)
        _ = shares.add(-1, of: "admin")
        let lost = (0..<1000).compactMap { shares.add($0, of: $0 % 2 == 0 ? "viewer" : "automation") }
        #expect(lost.count == 1000 - 47)
        #expect(!lost.contains(-1))
        #expect(shares.add(-2, of: "admin") ?? -1 >= 0)
    }

    @Test("of owners with equally many entries, the one with the oldest entry loses it")
    func equal() {
        var shares = FairShares<String, Int>(total: 3)
        for (entry, owner) in ["a", "b", "c"].enumerated() { _ = shares.add(entry, of: owner) }
        #expect(shares.add(3, of: "d") == 0)
        #expect(shares.add(4, of: "b") == 1)
        #expect(shares.add(5, of: "a") == 2)
    }

    @Test("a removed entry makes room")
    func removal() {
        var shares = FairShares<String, Int>(total: 2)
        _ = shares.add(1, of: "a")
        _ = shares.add(2, of: "b")
        shares.remove(1, of: "b")
        shares.remove(3, of: "c")
        #expect(shares.count == 2)
        shares.remove(1, of: "a")
        #expect(shares.count == 1)
        #expect(shares.add(3, of: "b") == nil)
        #expect(shares.add(4, of: "c") == 2)
    }

    @Test("the oldest entry of all is taken first")
    func oldest() {
        var shares = FairShares<String, Int>(total: 5)
        for (entry, owner) in ["a", "b", "a"].enumerated() { _ = shares.add(entry, of: owner) }
        #expect((0..<4).map { _ in shares.takeOldest() } == [0, 1, 2, nil])
        #expect(shares.count == 0)
    }
}
