import JacquardProtocol

/// Fragments as they come: packets are within their limits, and what was cut comes out again as it was.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var input = Input(start, count)
    var reassembler = Reassembler()
    var lost = 0
    while !input.isAtEnd {
        if case .packet(let packet) = reassembler.receive(input.bytes()) {
            require((1...Fragment.maximumPacketLength).contains(packet.count), "a packet of \(packet.count) bytes")
            checkRoundTrip(Array(packet), maximumLength: Fragment.minimumLength + packet.count % 42)
        }
        require(reassembler.lostPackets >= lost, "packets are found again")
        lost = reassembler.lostPackets
    }
    return 0
}

private func checkRoundTrip(_ packet: [UInt8], maximumLength: Int) {
    guard let fragments = try? Fragmenter.fragments(of: packet, maximumLength: maximumLength) else {
        fatalError("\(packet.count) bytes cannot be cut to \(maximumLength)")
    }
    var reassembler = Reassembler()
    var outcome = Reassembler.Outcome.incomplete
    for fragment in fragments {
        require(outcome == .incomplete, "the packet is complete too early")
        require(fragment.count <= maximumLength, "a fragment of \(fragment.count) bytes")
        outcome = reassembler.receive(fragment)
    }
    require(outcome == .packet(packet[...]), "another packet came out")
}
