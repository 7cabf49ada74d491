import JacquardProtocol
import Testing
import Time

@Suite("Failing connection")
struct ConnectionFailureTests {
    /// Before the spread of a quarter.
    private let firstPause = Duration.milliseconds(375)...Duration.milliseconds(625)

    @Test("drops the link, reports the error, pauses, and retries", arguments: ConnectionFailure.all)
    func failure(_ failure: ConnectionFailure) throws {
        var tag = SessionFixture(in: failure.phase)
        #expect(
            failure.happen(&tag).suffix(2) == [
                .connection(.preparingToConnect, attempt: 2, failure.error), .disconnect,
            ])
        let down = tag.on(.linkDown(nil))
        let retryAt = try #require(tag.session.deadline)
        #expect(down == [.connection(.preparingToConnect, attempt: 2, failure.error, retryAt: retryAt)])
        #expect(firstPause.contains(retryAt - tag.now))
        #expect(try tag.atDeadline() == [.connection(.preparingToConnect, attempt: 2, failure.error), .connect])
        #expect(tag.on(.linkUp) == [.connection(.connecting(step: 0), attempt: 2), .discover])
    }

    @Test("pauses and retries when the link is lost", arguments: SessionPhase.attempts, [true, false])
    func linkLost(phase: SessionPhase, isNamed: Bool) throws {
        var tag = SessionFixture(in: phase)
        let error =
            isNamed ? SampleTag.linkError : TagConnectionError(.bluetoothConnectionError, "the link was dropped")
        let actions = tag.on(.linkDown(isNamed ? SampleTag.linkError : nil))
        let retryAt = try #require(tag.session.deadline)
        #expect(actions == [.connection(.preparingToConnect, attempt: 2, error, retryAt: retryAt)])
        #expect(firstPause.contains(retryAt - tag.now))
    }

    @Test("reports a corrected cause of a lost link until there is another link, and starts the next attempt as before")
    func correctedLoss() throws {
        let other = TagConnectionError(.bluetoothConnectionError, "the radio was lost")
        var tag = SessionFixture(in: .discovering)
        _ = tag.on(.linkDown(SampleTag.linkError))
        let retryAt = try #require(tag.session.deadline)
        let corrected = tag.on(.lossCorrected(other))
        #expect(corrected == [.connection(.preparingToConnect, attempt: 2, other, retryAt: retryAt)])
        #expect(tag.session.deadline == retryAt)
        #expect(try tag.atDeadline() == [.connection(.preparingToConnect, attempt: 2, other), .connect])
        #expect(tag.on(.lossCorrected(other)) == [.connection(.preparingToConnect, attempt: 2, other)])
        _ = tag.on(.linkUp)
        #expect(tag.on(.lossCorrected(other)) == [])
    }

    @Test("a pause can be ended, and the next one is the shortest")
    func endedPause() throws {
        var tag = SessionFixture(in: .discovering)
        for attempt in 2...6 {
            _ = tag.on(.linkDown(SampleTag.linkError))
            let retryAt = try #require(tag.session.deadline)
            #expect(firstPause.contains(retryAt - tag.now))
            #expect(
                tag.on(.pauseEnded) == [
                    .connection(.preparingToConnect, attempt: attempt, SampleTag.linkError), .connect,
                ])
            #expect(tag.on(.pauseEnded) == [])
        }
    }

    @Test("retries immediately if a tag was not received for 60 s")
    func notHeard() throws {
        var tag = SessionFixture(in: .linking)
        let error = TagConnectionError(.connectionTimeout, "no connection within 60 s")
        for attempt in 2...5 {
            #expect(tag.after(.seconds(60) - .nanoseconds(1)) == [])
            #expect(tag.after(.nanoseconds(1)) == [.disconnect])
            #expect(tag.on(.linkDown(nil)) == [.connection(.preparingToConnect, attempt: attempt, error), .connect])
        }
    }

    @Test("connects a tag that was away for a week")
    func week() {
        var tag = SessionFixture(in: .linking)
        for minute in 1...(7 * 24 * 60) {
            _ = tag.after(.seconds(60))
            let connections = tag.on(.linkDown(nil)).connections
            guard connections.map(\.attempt) == [minute + 1], tag.session.deadline == tag.now + .seconds(60) else {
                Issue.record("in minute \(minute): \(connections)")
                return
            }
        }
        tag.connect()
        #expect(tag.complaints == [])
        #expect(tag.on(.linkDown(SampleTag.linkError)).connections.map(\.attempt) == [1])
    }

    @Test("starts the 60 s with the attempt, not with the link")
    func wholeAttempt() {
        var tag = SessionFixture(in: .linking)
        #expect(tag.after(.seconds(59)) == [])
        _ = tag.on(.linkUp)
        _ = tag.on(.discovered(.write))
        #expect(tag.after(.seconds(1)).last == .disconnect)
    }

    @Test("pauses twice as long each time, and counts the attempts")
    func growth() throws {
        var tag = SessionFixture(in: .linking)
        for (attempt, milliseconds) in zip(2..., [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
            let connection = try #require(tag.on(.linkDown(SampleTag.linkError)).connections.last)
            #expect(connection.attempt == attempt)
            let pause = try #require(connection.retryAt) - tag.now
            #expect(pause >= .milliseconds(milliseconds) * 0.75)
            #expect(pause <= .milliseconds(milliseconds) * 1.25)
            #expect(try tag.atDeadline().last == .connect)
        }
    }

    @Test("pauses at most eight seconds while another program uses the tag")
    func inUse() throws {
        var tag = SessionFixture(in: .linking)
        for _ in 1...12 {
            let error = TagConnectionError(.inUse, "another program on this host uses the device")
            let connection = try #require(tag.on(.linkDown(error)).connections.last)
            #expect(try #require(connection.retryAt) - tag.now <= .seconds(8))
            #expect(try tag.atDeadline().last == .connect)
        }
    }

    @Test(
        "restarts the count after a connection, with a short pause only after a long one",
        arguments: [(Duration.seconds(10), 500), (.seconds(10) - .nanoseconds(1), 1000)])
    func stable(duration: Duration, milliseconds: Int) throws {
        var tag = SessionFixture(in: .linking)
        _ = tag.on(.linkDown(SampleTag.linkError))
        _ = try tag.atDeadline()
        tag.connect()
        _ = tag.after(duration)
        let connection = try #require(tag.on(.linkDown(SampleTag.linkError)).connections.last)
        #expect(connection.attempt == 1)
        #expect(connection.error == SampleTag.linkError)
        let pause = try #require(connection.retryAt) - tag.now
        #expect(pause >= .milliseconds(milliseconds) * 0.75)
        #expect(pause <= .milliseconds(milliseconds) * 1.25)
    }

    @Test("pauses for at most 8 s if connections are repeatedly lost soon", arguments: 0..<20)
    func flapping(seed: UInt64) throws {
        var tag = SessionFixture(seed: seed)
        _ = tag.on(.connect(.always))
        for _ in 0..<10 {
            _ = tag.on(.linkDown(SampleTag.linkError))
            _ = try tag.atDeadline()
        }
        for _ in 0..<10 {
            tag.connect()
            _ = tag.after(.milliseconds(100))
            let retryAt = try #require(tag.on(.linkDown(SampleTag.linkError)).connections.last?.retryAt)
            #expect(retryAt - tag.now <= .seconds(8))
            #expect(retryAt - tag.now >= .seconds(6))
            _ = try tag.atDeadline()
        }
        let retryAt = try #require(tag.on(.linkDown(SampleTag.linkError)).connections.last?.retryAt)
        #expect(retryAt - tag.now >= .seconds(12))
    }

    @Test("is final when the tag has lost its bond", arguments: SessionPhase.attempts + SessionPhase.online)
    func bond(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        let actions = tag.on(.linkDown(SampleTag.bondError))
        #expect(actions.last == .connection(.disconnected, SampleTag.bondError))
        #expect(actions.connections.count == 1)
        #expect(tag.session.deadline == nil)
    }

    @Test("is final when the lost bond shows in a step, and reports it when the link is down")
    func bondInStep() {
        let steps: [(SessionPhase, SessionInput)] = [
            (.discovering, .discoveryFailed(SampleTag.bondError)),
            (.subscribing, .subscribeFailed(SampleTag.bondError)),
            (.hello, .writeFailed(SampleTag.bondError, isNotPermitted: false)),
        ]
        for (phase, input) in steps {
            var tag = SessionFixture(in: phase)
            #expect(tag.on(input) == [.disconnect])
            #expect(tag.on(.linkDown(nil)) == [.connection(.disconnected, SampleTag.bondError)])
        }
    }

    @Test("is final when the lost bond shows as the link goes down", arguments: [SessionPhase.closing, .restarting])
    func bondWhileClosing(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        let connections = tag.on(.linkDown(SampleTag.bondError)).connections
        #expect(connections.map(\.state) == [.disconnected])
        #expect(connections.map(\.error) == [SampleTag.bondError])
    }

    @Test(
        "continues if the end of the link is not reported", arguments: [SessionPhase.closing, .stopping, .restarting])
    func deafStack(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        #expect(tag.after(.seconds(10) - .nanoseconds(1)) == [])
        #expect(tag.after(.nanoseconds(1)).connections.count == 1)
    }

    @Test("drops a link that does not confirm a write within 30 s")
    func unconfirmedWrite() {
        var tag = SessionFixture(in: .hello)
        // Answered before it is confirmed: nothing else is waited for.
        #expect(tag.answer(SampleTag.hello) == [])
        #expect(tag.after(.seconds(30) - .nanoseconds(1)) == [])
        let error = TagConnectionError(.bluetoothConnectionError, "a write was not confirmed within 30 s")
        #expect(tag.after(.nanoseconds(1)) == [.connection(.preparingToConnect, attempt: 2, error), .disconnect])
    }
}
