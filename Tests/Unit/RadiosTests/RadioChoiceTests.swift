import Bluetooth
import Testing
import Time

@testable import Radios

@Suite("Choice of a radio")
struct RadioChoiceTests {
    // MARK: Bonds

    @Test("A radio without a bond never connects a tag that has a bond with another one")
    func bondFirst() {
        var bench = ChoiceBench()
        bench.choice.setBonds([bench.tag], of: 1)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -30, by: 0)
        #expect(bench.steps() == [])
        bench.wait(.seconds(1))
        bench.receive(bench.tag, -90, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
    }

    @Test("A tag that only radios without a bond receive is reported after 5 s, and the report ends with the link")
    func missingBond() {
        var bench = ChoiceBench()
        bench.choice.requireBond(with: bench.tag)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -50, by: 0)
        #expect(bench.steps() == [])
        bench.wait(.seconds(4))
        bench.receive(bench.tag, -50, by: 0)
        #expect(bench.steps() == [])
        bench.wait(.seconds(1))
        #expect(bench.steps() == [.noBond(bench.tag, receivedBy: [0])])
        #expect(bench.steps() == [])
        bench.choice.setBonds([bench.tag], of: 1)
        bench.receive(bench.tag, -80, by: 1)
        #expect(bench.steps() == [.noBond(bench.tag, receivedBy: []), .connect(bench.tag, 1)])
    }

    /// A tag that needs a bond, and that only a radio without one has received: it was reported.
    private static func withMissingBond() -> ChoiceBench {
        var bench = ChoiceBench()
        bench.choice.requireBond(with: bench.tag)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -50, by: 0)
        _ = bench.steps()
        bench.wait(.seconds(5))
        #expect(bench.steps() == [.noBond(bench.tag, receivedBy: [0])])
        return bench
    }

    @Test("The report of a missing bond ends with the request to connect, unless that is repeated at once")
    func missingBondEnds() {
        var bench = Self.withMissingBond()
        bench.choice.disconnect(bench.tag, at: bench.now)
        #expect(bench.steps() == [.end(bench.tag, nil)])
        bench.connect(bench.tag)
        bench.wait(.seconds(3))
        bench.receive(bench.tag, -50, by: 0)
        #expect(bench.steps() == [])
        bench.choice.disconnect(bench.tag, at: bench.now)
        #expect(bench.steps() == [.end(bench.tag, nil)])
        #expect(bench.choice.deadline(at: bench.now) == bench.now + .seconds(2))
        bench.wait(.seconds(2))
        #expect(bench.steps() == [.noBond(bench.tag, receivedBy: [])])
        #expect(bench.choice.ending.isEmpty)
    }

    @Test("The report of a missing bond does not outlast the request if no radio receives the tag any more")
    func missingBondOfAbsentTag() {
        var bench = Self.withMissingBond()
        bench.wait(.seconds(10))
        bench.choice.disconnect(bench.tag, at: bench.now)
        #expect(bench.steps() == [.noBond(bench.tag, receivedBy: []), .end(bench.tag, nil)])
    }

    @Test("The report of a missing bond ends when the tag is forgotten after its request")
    func missingBondOfForgottenTag() {
        var bench = Self.withMissingBond()
        bench.choice.disconnect(bench.tag, at: bench.now)
        #expect(bench.steps() == [.end(bench.tag, nil)])
        bench.choice.forget(bench.tag)
        #expect(bench.steps() == [.noBond(bench.tag, receivedBy: [])])
        #expect(bench.choice.deadline(at: bench.now) == nil)
    }

    @Test("A tag without any bond is connected by the radio that receives it best")
    func noBondAtAll() {
        var bench = ChoiceBench()
        bench.connect(bench.tag)
        bench.receive(bench.tag, -70, by: 0)
        bench.receive(bench.tag, -50, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
    }

    @Test("A refused bond removes the radio from the candidates while another one has a bond")
    func refusedBond() {
        var bench = ChoiceBench()
        for radio in 0...1 { bench.choice.setBonds([bench.tag], of: radio) }
        bench.haveLinked(bench.tag, by: 0)
        let error = BluetoothError(.authenticationFailed, name: "removed", text: "lost")
        let outcome = bench.choice.disconnected(bench.tag, by: 0, error, at: bench.now)
        #expect(outcome == .ended(BluetoothError(.connectionFailed, name: "removed", text: "lost")))
        bench.connect(bench.tag)
        bench.receive(bench.tag, -30, by: 0)
        bench.wait(.seconds(1))
        #expect(bench.steps() == [])
        bench.receive(bench.tag, -90, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
    }

    @Test("If every bond is refused, the tag is tried, and the error is reported as it is")
    func allRefused() {
        var bench = ChoiceBench()
        bench.choice.setBonds([bench.tag], of: 0)
        bench.haveLinked(bench.tag, by: 0)
        let error = BluetoothError(.authenticationFailed, text: "lost")
        #expect(bench.choice.disconnected(bench.tag, by: 0, error, at: bench.now) == .ended(error))
        bench.connect(bench.tag)
        bench.receive(bench.tag, -30, by: 0)
        bench.wait(.milliseconds(200))
        #expect(bench.steps() == [.connect(bench.tag, 0)])
    }

    @Test("A pairing uses the radio that receives the tag best, with or without a bond")
    func pairing() {
        var bench = ChoiceBench()
        bench.choice.setBonds([bench.tag], of: 1)
        bench.choice.beginPairing(bench.tag, with: nil)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -40, by: 0)
        bench.receive(bench.tag, -80, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 0)])
    }

    @Test("A pairing with a given radio uses no other one")
    func pairingWithRadio() {
        var bench = ChoiceBench()
        bench.choice.setBonds([bench.tag], of: 0)
        bench.choice.beginPairing(bench.tag, with: 1)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -40, by: 0)
        bench.wait(.seconds(2))
        #expect(bench.steps() == [])
        bench.receive(bench.tag, -80, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
        bench.up(bench.tag, by: 1)
        bench.choice.setBonds([bench.tag], of: 1)
        bench.choice.endPairing(bench.tag, bondedBy: 1)
        #expect(bench.choice.receptions(of: bench.tag).map(\.isBonded) == [true, true])
    }

    @Test("A check of a bond drops the link, uses the given radio only, and notes a bond that is not accepted")
    func check() {
        var bench = ChoiceBench()
        bench.choice.setBonds([bench.tag], of: 0)
        bench.choice.setBonds([bench.tag], of: 1)
        bench.haveLinked(bench.tag, by: 0)
        bench.choice.beginCheck(bench.tag, with: 0)
        #expect(bench.steps() == [.release(bench.tag, 0)])
        let dropped = BluetoothError(
            .connectionFailed, name: BluetoothError.otherRadioName, text: "the bond of a radio is being checked")
        #expect(bench.choice.disconnected(bench.tag, by: 0, nil, at: bench.now) == .ended(dropped))
        bench.choice.beginCheck(bench.tag, with: 1)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -30, by: 0)
        bench.wait(.seconds(1))
        #expect(bench.steps() == [])
        bench.receive(bench.tag, -80, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
        #expect(bench.down(bench.tag, by: 1, .authenticationFailed) == .goesOn)
        let refused = BluetoothError(.connectionFailed, name: BluetoothError.bondRefusedName, text: "lost")
        #expect(bench.steps() == [.end(bench.tag, refused)])
        #expect(bench.choice.receptions(of: bench.tag).map(\.isBonded) == [true, false])
        bench.choice.endPairing(bench.tag, bondedBy: nil)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -80, by: 0)
        bench.receive(bench.tag, -30, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 0)])
    }

    @Test("An access that the tag accepts makes a radio a candidate again whose bond was refused")
    func acceptedAgain() {
        var bench = ChoiceBench()
        for radio in 0...1 { bench.choice.setBonds([bench.tag], of: radio) }
        bench.haveLinked(bench.tag, by: 0)
        _ = bench.down(bench.tag, by: 0, .authenticationFailed)
        #expect(bench.choice.refusedBonds(of: bench.tag) == [0])
        bench.choice.beginCheck(bench.tag, with: 0)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -30, by: 0)
        bench.wait(.milliseconds(200))
        #expect(bench.steps() == [.connect(bench.tag, 0)])
        bench.up(bench.tag, by: 0)
        #expect(bench.choice.refusedBonds(of: bench.tag) == [0], "a link alone says nothing about the bond")
        let isAccepted = bench.choice.accepted(bench.tag, by: 0)
        let isAcceptedAgain = bench.choice.accepted(bench.tag, by: 0)
        #expect(isAccepted && !isAcceptedAgain)
        bench.choice.endPairing(bench.tag, bondedBy: nil)
        #expect(bench.choice.receptions(of: bench.tag).map(\.isBonded) == [true, true])
    }

    // MARK: Score

    @Test("The signal strength is smoothed: one value of several counts 0.3")
    func smoothed() {
        var bench = ChoiceBench()
        bench.receive(bench.tag, -60, by: 0)
        bench.receive(bench.tag, -40, by: 0)
        #expect(bench.choice.receptions(of: bench.tag).map(\.rssi) == [-54])
        bench.wait(.seconds(11))
        bench.receive(bench.tag, -80, by: 0)
        #expect(bench.choice.receptions(of: bench.tag).map(\.rssi) == [-80])
    }

    @Test("The last radio has 6 dB more", arguments: [(-56, 0), (-53, 1)])
    func lastRadio(rssi: Int, chosen: Int) {
        var bench = ChoiceBench()
        bench.haveLinked(bench.tag, by: 0)
        #expect(bench.down(bench.tag, by: 0) == .ended(ChoiceBench.lost))
        bench.connect(bench.tag)
        bench.receive(bench.tag, -60, by: 0)
        bench.receive(bench.tag, rssi, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, chosen)])
    }

    @Test("Each link costs 2 dB")
    func links() {
        var bench = ChoiceBench()
        bench.haveLinked(bench.other, by: 0)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -60, by: 0)
        bench.receive(bench.tag, -61, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
    }

    @Test("A failure costs 10 dB, 5 dB after 30 s, and nothing after a minute")
    func failures() {
        var tag = TagByRadios()
        let start = Instant(sinceBoot: .seconds(3_600))
        tag.failed(by: 0, at: start)
        #expect([0, 29, 30, 59, 60].map { tag.failurePenalty(of: 0, at: start + .seconds($0)) } == [10, 10, 5, 5, 0])
        tag.failed(by: 0, at: start + .seconds(20))
        #expect(tag.failurePenalty(of: 0, at: start + .seconds(30)) == 15)
        #expect(tag.failurePenalty(of: 1, at: start) == 0)
    }

    @Test("No penalty makes a radio lose to one that is 20 dB weaker")
    func boundedPenalty() {
        var bench = ChoiceBench()
        bench.haveLinked(bench.tag, by: 1)
        #expect(bench.down(bench.tag, by: 1) == .ended(ChoiceBench.lost))
        for number in 10..<20 { bench.haveLinked(ChoiceBench.address(number), by: 0) }
        for _ in 0..<5 {
            bench.connect(bench.tag)
            bench.receive(bench.tag, -50, by: 0)
            bench.wait(.milliseconds(200))
            #expect(bench.steps() == [.connect(bench.tag, 0)])
            #expect(bench.down(bench.tag, by: 0) == .goesOn)
            #expect(bench.steps() == [.end(bench.tag, ChoiceBench.lost)])
        }
        bench.connect(bench.tag)
        bench.receive(bench.tag, -50, by: 0)
        bench.receive(bench.tag, -70, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 0)])
    }

    @Test("A radio without a free link is not a candidate")
    func capacity() {
        var bench = ChoiceBench()
        bench.choice.setCapacity(1, of: 0)
        bench.haveLinked(bench.other, by: 0)
        #expect(bench.choice.freeLinks(of: 0) == 0)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -30, by: 0)
        bench.wait(.seconds(1))
        #expect(bench.steps() == [])
        bench.receive(bench.tag, -90, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
    }
}
