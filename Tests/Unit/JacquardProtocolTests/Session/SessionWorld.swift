import JacquardProtocol
import Time

/// A session with a Bluetooth stack and a tag around it that do what they are asked for.
struct SessionWorld {
    var fixture: SessionFixture
    /// The events of the stack and the tag that are still to come.
    private(set) var owed: [SessionInput] = []
    private var ears = Reassembler()

    init(_ fixture: SessionFixture) {
        self.fixture = fixture
    }

    /// Something happens, and the world sees what the session does about it.
    mutating func happen(_ input: SessionInput) {
        switch input {
        case .linkDown, .poweredOff: owed = []
        default: break
        }
        for action in fixture.on(input) { perform(action) }
    }

    /// Something that is owed happens, or a deadline is reached.
    mutating func goOn() {
        if !owed.isEmpty {
            happen(owed.removeFirst())
        } else if let deadline = fixture.session.deadline {
            fixture.pass(max(.zero, deadline - fixture.now))
            happen(.deadline)
        }
    }

    /// Forgets the next thing that is owed.
    mutating func swallow() {
        if !owed.isEmpty { owed.removeFirst() }
    }

    private mutating func perform(_ action: TagSession.Action) {
        switch action {
        case .connect: owed = [.linkUp]
        case .disconnect: owed = [.linkDown(nil)]
        case .bond: owed = [.bonded]
        case .discover:
            ears = Reassembler()
            owed = [.discovered([.write, .writeWithoutResponse])]
        case .subscribe: owed.append(.subscribed)
        case .write(let fragment, _): hear(fragment)
        case .writeRaw: owed.append(.written)
        case .emit: break
        }
    }

    private mutating func hear(_ fragment: [UInt8]) {
        owed.append(.written)
        guard case .packet(let packet) = ears.receive(fragment), let (id, request) = try? Request.decode(packet) else {
            return
        }
        let response = Response(id: id, body: SampleTag.answer(to: request))
        let fragments = (try? Fragmenter.fragments(of: response.encoded())) ?? []
        owed += fragments.map { .received($0, on: .response) }
    }
}

extension SampleTag {
    /// The answer of a tag to a request.
    static func answer(to request: Request) -> Response.Body? {
        switch request.body {
        case nil: hello
        case .begin: begin
        case .deviceInfo(let body): .deviceInfo(body.component == 0 ? information : gearInformation)
        case .batteryStatus: .batteryStatus(BatteryStatusReport(BatteryStatus(level: 50, isCharging: false)))
        case .configGet: .configGet(ConfigGetResponse(element: ConfigElement(key: "k", value: .bool(true))))
        case .dataChannel(let body): .dataChannel(DataChannelResponse(body.touchMode ?? .gesture))
        case .configWrite: configuration
        default: nil
        }
    }
}
