import Bluetooth
import JacquardProtocol
import TagStage
import Testing
import Time

@testable import Tags

@Suite("Sightings")
struct SightingsTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    private func tag(_ number: Int, _ serial: PairingSerial = .desk) throws -> AdvertisedTag {
        try #require(AdvertisedTag(.number(number), ScriptedTag(number, serial: serial).advertisement()))
    }

    private func hear(
        _ number: Int, after seconds: Int, in sightings: inout Sightings, linked: Set<Int> = [], known: Set<Int> = []
    ) throws -> [String]? {
        let (tag, now) = (try tag(number), start + .seconds(seconds))
        sightings.record(tag, at: now) { _ in false }
        return sightings.sharing(tag, at: now, known: Set(known.map { .number($0) })) { address in
            linked.contains { .number($0) == address }
        }?.map(\.short)
    }

    @Test("count a tag that has changed its address as one")
    func changedAddress() throws {
        var sightings = Sightings()
        #expect(try hear(1, after: 0, in: &sightings) == nil)
        #expect(try hear(2, after: 1, in: &sightings) == nil)
        #expect(try hear(2, after: 40, in: &sightings) == nil)
    }

    @Test("count a tag that has changed its serial with the new one only")
    func changedSerial() throws {
        var sightings = Sightings()
        #expect(try hear(1, after: 0, in: &sightings) == nil)
        #expect(try hear(2, after: 1, in: &sightings) == nil)
        sightings.record(try tag(1, .attic), at: start + .seconds(2)) { _ in false }
        #expect(try hear(2, after: 3, in: &sightings) == nil)
    }

    @Test("report two tags with one serial once, again after they were separated, and a third one")
    func twoTags() throws {
        var sightings = Sightings()
        let times = [(1, 0), (2, 1), (1, 2), (2, 3), (1, 50), (1, 51), (2, 52), (1, 53), (3, 54), (2, 55), (3, 56)]
        let reported = try times.map { try hear($0, after: $1, in: &sightings) }
        #expect(
            reported == [nil, nil, ["01", "02"], nil, nil, nil, nil, ["01", "02"], nil, ["01", "02", "03"], nil])
    }

    @Test("of one of three tags that is forgotten leave the others reported")
    func forgottenThird() throws {
        var sightings = Sightings()
        let times = [(1, 0), (2, 1), (3, 2), (1, 3), (2, 4), (3, 5)]
        for (number, time) in times { _ = try hear(number, after: time, in: &sightings) }
        sightings.forget(.number(3))
        #expect(try hear(1, after: 6, in: &sightings) == nil)
        #expect(try hear(2, after: 7, in: &sightings) == nil)
        #expect(try hear(2, after: 310, in: &sightings) == nil)
        #expect(try hear(1, after: 311, in: &sightings) == nil)
        #expect(try hear(2, after: 312, in: &sightings) == ["01", "02"])
    }

    @Test("count a connected, and therefore silent, tag as present")
    func linked() throws {
        var sightings = Sightings()
        #expect(try hear(1, after: 0, in: &sightings) == nil)
        #expect(try hear(2, after: 3600, in: &sightings, linked: [1]) == ["01", "02"])
        #expect(try hear(2, after: 3601, in: &sightings, linked: [1]) == nil)
    }

    @Test("report another device than the known one as a second tag immediately, and again after five minutes")
    func known() throws {
        var sightings = Sightings()
        #expect(try hear(1, after: 0, in: &sightings, known: [1]) == nil)
        #expect(try hear(2, after: 100, in: &sightings, known: [1]) == ["01", "02"])
        #expect(try hear(1, after: 101, in: &sightings, known: [1]) == nil)
        #expect(try hear(2, after: 399, in: &sightings, known: [1]) == nil)
        #expect(try hear(2, after: 400, in: &sightings, known: [1]) == ["01", "02"])
        #expect(try hear(3, after: 401, in: &sightings, known: [1]) == ["01", "03"])
        #expect(try hear(1, after: 402, in: &sightings, known: [1, 2]) == nil)
    }

    @Test("are removed after an hour of silence, unless they are in use", arguments: [false, true])
    func silence(isInUse: Bool) throws {
        var sightings = Sightings()
        sightings.record(try tag(1), at: start) { _ in isInUse }
        sightings.record(try tag(2), at: start + .seconds(3600)) { _ in isInUse }
        #expect(sightings.isKnown(.number(1)))
        // Silent tags are removed at most once a minute, however often tags advertise.
        sightings.record(try tag(2), at: start + .seconds(3659)) { _ in isInUse }
        #expect(sightings.isKnown(.number(1)))
        sightings.record(try tag(2), at: start + .seconds(3661)) { _ in isInUse }
        #expect(sightings.isKnown(.number(1)) == isInUse)
    }

    @Test("are bounded: the one that was silent for longest is removed")
    func bounded() throws {
        var sightings = Sightings(limit: 2)
        for (number, second) in [(1, 0), (2, 1), (1, 2), (3, 3)] {
            _ = try hear(number, after: second, in: &sightings)
        }
        #expect([1, 2, 3].map { sightings.isKnown(.number($0)) } == [true, false, true])
    }

    @Test("contain a bonded device that has not advertised, until it is forgotten")
    func bonds() {
        var sightings = Sightings()
        sightings.note(.number(1), isBonded: true)
        #expect(sightings.isKnown(.number(1)))
        sightings.forget(.number(1))
        #expect(!sightings.isKnown(.number(1)))
        sightings.note(.number(1), isBonded: true)
        sightings.note(.number(1), isBonded: false)
        #expect(!sightings.isKnown(.number(1)))
    }

    @Test("of tags that were forgotten leave nothing behind, and are reported again")
    func forgotten() throws {
        var sightings = Sightings()
        let times = [(1, 0), (2, 1), (1, 2)]
        #expect(try times.map { try hear($0, after: $1, in: &sightings) } == [nil, nil, ["01", "02"]])
        for number in 1...2 {
            sightings.forget(.number(number))
            #expect(!sightings.isKnown(.number(number)))
        }
        #expect(sightings.addresses.isEmpty && sightings.reported.isEmpty)
        #expect(try times.map { try hear($0, after: $1 + 10, in: &sightings) } == [nil, nil, ["01", "02"]])
    }

    @Test("hold a thousand tags; one more replaces the one that was silent for longest")
    func defaultLimit() throws {
        var sightings = Sightings()
        let addresses = try (0...1_000).map { number in
            let digits = String(number + 10_000)
            return try #require(
                BluetoothAddress("F0:00:00:0\(digits.prefix(1)):\(digits.dropFirst().prefix(2)):\(digits.suffix(2))"))
        }
        for (number, address) in addresses.enumerated() {
            if number == 1_000 { #expect(sightings.isKnown(addresses[0])) }
            let advertisement = ScriptedTag(1, serial: .desk).advertisement()
            let tag = try #require(AdvertisedTag(address, advertisement))
            sightings.record(tag, at: start + .milliseconds(number)) { _ in false }
        }
        #expect(addresses.map(sightings.isKnown) == [false] + Array(repeating: true, count: 1_000))
    }
}

@Suite("A serial that another device advertises")
struct KnownAddressesTests {
    private let now = Instant(sinceBoot: .seconds(3_600))

    private func moves(
        bonded: Bool, other: Bool, known: Bool = false, pairing: Bool = false, silence: Int? = 1_000
    ) -> Bool {
        let holder = KnownAddresses.Holder(
            address: .number(1), isBonded: bonded, isKnown: known, isPairing: pairing,
            lastSign: silence.map { now - .seconds($0) })
        return KnownAddresses.movesIdentity(from: holder, toDeviceWithBond: other, at: now)
    }

    @Test("moves the tag to the only one of the two with a bond, and never away from a device with a bond")
    func bonds() {
        #expect(moves(bonded: false, other: true, known: true, silence: 0))
        for isPairing in [false, true] {
            #expect(!moves(bonded: true, other: false, pairing: isPairing))
            #expect(!moves(bonded: true, other: true, pairing: isPairing))
        }
    }

    @Test("moves a tag without a bond after 30 s of silence, unless the tag was connected at its address")
    func silence() {
        #expect(!moves(bonded: false, other: false, silence: 30))
        #expect(moves(bonded: false, other: false, silence: 31))
        #expect(moves(bonded: false, other: false, silence: nil))
        #expect(!moves(bonded: false, other: false, known: true, silence: nil))
    }

    @Test("has no entry once its only tag has no known address")
    func removed() {
        var known = KnownAddresses()
        known[.desk] = .number(1)
        #expect(known.all(of: .desk) == [.number(1)])
        known[.desk] = nil
        #expect(known.addresses.isEmpty)
    }

    @Test("moves a tag that its user pairs after 5 s of silence, wherever it was connected", arguments: [false, true])
    func pairing(isKnown: Bool) {
        #expect(!moves(bonded: false, other: false, known: isKnown, pairing: true, silence: 5))
        #expect(moves(bonded: false, other: false, known: isKnown, pairing: true, silence: 6))
    }
}
