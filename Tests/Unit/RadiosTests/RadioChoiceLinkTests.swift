import Bluetooth
import Testing
import Time

@testable import Radios

@Suite("The moment and the links of a chosen radio")
struct RadioChoiceLinkTests {
    // MARK: The moment

    @Test("After the first advertisement, the other radios have 200 ms")
    func moment() {
        var bench = ChoiceBench(radios: 3)
        bench.connect(bench.tag)
        bench.receive(bench.tag, -70, by: 0)
        #expect(bench.steps() == [])
        #expect(bench.choice.deadline(at: bench.now) == bench.now + .milliseconds(200))
        bench.wait(.milliseconds(150))
        bench.receive(bench.tag, -50, by: 1)
        #expect(bench.steps() == [])
        bench.wait(.milliseconds(50))
        #expect(bench.steps() == [.connect(bench.tag, 1)])
    }

    @Test("A tag that all radios receive is connected at once")
    func momentOfAll() {
        var bench = ChoiceBench()
        bench.connect(bench.tag)
        bench.receive(bench.tag, -70, by: 0)
        bench.receive(bench.tag, -50, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
    }

    @Test("A tag that only one radio has ever received is connected at once")
    func oneReceiver() {
        var bench = ChoiceBench()
        bench.haveLinked(bench.tag, by: 1)
        #expect(bench.down(bench.tag, by: 1) == .ended(ChoiceBench.lost))
        bench.connect(bench.tag)
        bench.receive(bench.tag, -70, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
    }

    @Test("If the best radio fails, the next best one tries at once, and the last error ends the request")
    func nextBest() {
        var bench = ChoiceBench(radios: 3)
        bench.connect(bench.tag)
        for (radio, rssi) in [(0, -60), (1, -50), (2, -70)] { bench.receive(bench.tag, rssi, by: radio) }
        #expect(bench.steps() == [.connect(bench.tag, 1)])
        #expect(bench.down(bench.tag, by: 1) == .goesOn)
        #expect(bench.steps() == [.connect(bench.tag, 0)])
        #expect(bench.down(bench.tag, by: 0) == .goesOn)
        #expect(bench.steps() == [.connect(bench.tag, 2)])
        #expect(bench.down(bench.tag, by: 2, .timeout) == .goesOn)
        #expect(bench.steps() == [.end(bench.tag, BluetoothError(.timeout, text: "lost"))])
    }

    @Test("An attempt of more than 5 s is cancelled if another radio receives the tag; the next one begins at its end")
    func slowAttempt() {
        var bench = ChoiceBench()
        bench.connect(bench.tag)
        bench.receive(bench.tag, -50, by: 0)
        bench.receive(bench.tag, -60, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 0)])
        bench.wait(.seconds(4))
        bench.receive(bench.tag, -60, by: 1)
        #expect(bench.steps() == [])
        bench.wait(.seconds(1))
        #expect(bench.steps() == [.release(bench.tag, 0)])
        bench.wait(.seconds(1))
        #expect(bench.steps() == [])
        #expect(bench.down(bench.tag, by: 0) == .goesOn)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
    }

    @Test("A slow attempt of the only radio that receives the tag goes on")
    func slowAlone() {
        var bench = ChoiceBench()
        bench.connect(bench.tag)
        bench.receive(bench.tag, -50, by: 0)
        bench.wait(.milliseconds(200))
        #expect(bench.steps() == [.connect(bench.tag, 0)])
        bench.wait(.seconds(30))
        #expect(bench.steps() == [])
        bench.up(bench.tag, by: 0)
    }

    @Test("A radio connects one tag at a time; another radio takes the next tag after 2 s")
    func busy() {
        var bench = ChoiceBench()
        for address in [bench.tag, bench.other] {
            bench.connect(address)
            bench.receive(address, -50, by: 0)
            bench.receive(address, -60, by: 1)
        }
        #expect(bench.steps() == [.connect(bench.tag, 0)])
        bench.wait(.seconds(2))
        #expect(bench.steps() == [])
        bench.wait(.milliseconds(200))
        #expect(bench.steps() == [.connect(bench.other, 1)])
    }

    @Test("The best radio connects the next tag when it is free again")
    func freeAgain() {
        var bench = ChoiceBench()
        for address in [bench.tag, bench.other] {
            bench.connect(address)
            bench.receive(address, -50, by: 0)
            bench.receive(address, -60, by: 1)
        }
        #expect(bench.steps() == [.connect(bench.tag, 0)])
        bench.up(bench.tag, by: 0)
        #expect(bench.steps() == [.connect(bench.other, 0)])
    }

    // MARK: Links

    @Test("A link stays, whatever other radios receive weakly")
    func staysLinked() {
        var bench = ChoiceBench()
        bench.haveLinked(bench.tag, by: 0)
        for _ in 0..<20 {
            bench.wait(.seconds(1))
            bench.receive(bench.tag, -76, by: 1)
            #expect(bench.steps() == [])
        }
        #expect(bench.choice.linkedRadio(of: bench.tag) == 0)
    }

    @Test("A tag that another radio receives at full strength has no link: it is dropped and reported as lost")
    func deadLink() {
        var bench = ChoiceBench()
        bench.haveLinked(bench.tag, by: 0)
        bench.receive(bench.tag, -40, by: 1)
        bench.wait(.seconds(3))
        bench.receive(bench.tag, -40, by: 1)
        #expect(bench.steps() == [])
        bench.wait(.milliseconds(500))
        bench.receive(bench.tag, -40, by: 1)
        #expect(bench.steps() == [.release(bench.tag, 0)])
        let error = BluetoothError(.connectionFailed, text: "the link is dead: another radio receives the tag")
        #expect(bench.choice.disconnected(bench.tag, by: 0, nil, at: bench.now) == .ended(error))
    }

    @Test("A link of another program with another radio is no evidence that a link is dead")
    func foreignLink() {
        var bench = ChoiceBench()
        bench.haveLinked(bench.tag, by: 0)
        for _ in 0..<5 {
            bench.wait(.seconds(3))
            bench.receive(bench.tag, -40, by: 1, isConnected: true)
        }
        #expect(bench.steps() == [])
    }

    @Test("Receptions from before a link don't count after it")
    func staleReceptions() {
        var bench = ChoiceBench()
        bench.receive(bench.tag, -70, by: 0)
        bench.receive(bench.tag, -30, by: 1)
        bench.connect(bench.tag)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
        bench.up(bench.tag, by: 1)
        bench.wait(.seconds(1))
        #expect(bench.down(bench.tag, by: 1) == .ended(ChoiceBench.lost))
        bench.connect(bench.tag)
        #expect(bench.steps() == [])
        bench.receive(bench.tag, -70, by: 0)
        bench.wait(.milliseconds(200))
        #expect(bench.steps() == [.connect(bench.tag, 0)])
    }

    @Test("A link that nothing has requested is dropped")
    func unrequestedLink() {
        var bench = ChoiceBench()
        bench.haveLinked(bench.tag, by: 0)
        bench.up(bench.tag, by: 1, isExpected: false)
        #expect(bench.steps() == [.release(bench.tag, 1)])
        #expect(bench.choice.linkedRadio(of: bench.tag) == 0)
    }

    @Test("A withdrawn request ends once, in each phase")
    func withdrawn() {
        var bench = ChoiceBench()
        bench.connect(bench.tag)
        bench.choice.disconnect(bench.tag, at: bench.now)
        #expect(bench.steps() == [.end(bench.tag, nil)])
        bench.connect(bench.tag)
        bench.receive(bench.tag, -50, by: 0)
        bench.wait(.milliseconds(200))
        #expect(bench.steps() == [.connect(bench.tag, 0)])
        bench.choice.disconnect(bench.tag, at: bench.now)
        bench.choice.disconnect(bench.tag, at: bench.now)
        #expect(bench.steps() == [.release(bench.tag, 0)])
        #expect(bench.choice.disconnected(bench.tag, by: 0, nil, at: bench.now) == .ended(nil))
        #expect(bench.choice.disconnected(bench.tag, by: 0, nil, at: bench.now) == .goesOn)
        #expect(bench.steps() == [])
    }

    // MARK: Lost radios

    @Test("The tags of a lost radio go to the others, and the loss is no failure of the tag")
    func lostRadio() {
        var bench = ChoiceBench()
        bench.connect(bench.tag)
        bench.receive(bench.tag, -50, by: 0)
        bench.receive(bench.tag, -60, by: 1)
        #expect(bench.steps() == [.connect(bench.tag, 0)])
        bench.choice.setUsable(false, 0)
        #expect(bench.down(bench.tag, by: 0, isRadioLost: true) == .goesOn)
        #expect(bench.steps() == [.connect(bench.tag, 1)])
        bench.choice.setUsable(true, 0)
        #expect(bench.choice.tags[bench.tag]?.failures == [:])
    }

    @Test("A tag that waits while its only radio is lost is connected when the radio is back")
    func radioReturns() {
        var bench = ChoiceBench()
        bench.choice.setBonds([bench.tag], of: 0)
        bench.connect(bench.tag)
        bench.choice.setUsable(false, 0)
        bench.wait(.seconds(60))
        #expect(bench.steps() == [])
        bench.choice.setUsable(true, 0)
        bench.receive(bench.tag, -50, by: 0)
        #expect(bench.steps() == [.connect(bench.tag, 0)])
    }

    // MARK: Without an advertisement

    @Test("A tag that no radio has received for 15 s is tried by its last radio, until one receives it")
    func unheard() {
        var bench = ChoiceBench()
        for radio in 0...1 { bench.choice.setBonds([bench.tag], of: radio) }
        bench.haveLinked(bench.tag, by: 1)
        #expect(bench.down(bench.tag, by: 1) == .ended(ChoiceBench.lost))
        bench.connect(bench.tag)
        bench.wait(.seconds(14))
        #expect(bench.steps() == [])
        bench.wait(.seconds(1))
        #expect(bench.steps() == [.connect(bench.tag, 1)])
        bench.wait(.seconds(60))
        bench.receive(bench.tag, -50, by: 0)
        #expect(bench.steps() == [.release(bench.tag, 1)])
        #expect(bench.choice.disconnected(bench.tag, by: 1, nil, at: bench.now) == .goesOn)
        bench.wait(.milliseconds(200))
        #expect(bench.steps() == [.connect(bench.tag, 0)])
    }

    @Test("A radio that tries a tag without an advertisement is free for others")
    func unheardIsFree() {
        var bench = ChoiceBench(radios: 1)
        bench.choice.setBonds([bench.tag], of: 0)
        bench.connect(bench.tag)
        bench.wait(.seconds(15))
        #expect(bench.steps() == [.connect(bench.tag, 0)])
        bench.connect(bench.other)
        bench.receive(bench.other, -50, by: 0)
        #expect(bench.steps() == [.connect(bench.other, 0)])
    }

    // MARK: Bounds

    @Test("Unknown tags don't take memory without bound")
    func bounded() {
        var bench = ChoiceBench()
        bench.connect(bench.tag)
        for number in 100..<(100 + 2 * RadioChoice.mostTags) {
            bench.receive(ChoiceBench.address(number), -50, by: 0)
            bench.wait(.milliseconds(1))
        }
        #expect((RadioChoice.mostTags * 9 / 10...RadioChoice.mostTags).contains(bench.choice.tags.count))
        #expect(bench.choice.tags[bench.tag] != nil)
        #expect(bench.choice.tags[ChoiceBench.address(99 + 2 * RadioChoice.mostTags)] != nil)
    }

    @Test("A forgotten tag has no bond and no last radio")
    func forgotten() {
        var bench = ChoiceBench()
        bench.choice.setBonds([bench.tag], of: 0)
        bench.choice.requireBond(with: bench.tag)
        bench.choice.forget(bench.tag)
        #expect(bench.choice.receptions(of: bench.tag) == [])
        bench.connect(bench.tag)
        bench.receive(bench.tag, -50, by: 1)
        bench.wait(.milliseconds(200))
        #expect(bench.steps() == [.connect(bench.tag, 1)])
    }
}
