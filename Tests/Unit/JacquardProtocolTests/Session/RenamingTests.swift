import JacquardProtocol
import Testing

@Suite("Renaming")
struct RenamingTests {
    @Test("takes two consecutive requests: the name, and the disconnection that applies it")
    func rename() {
        var tag = SessionFixture(in: .connected)
        _ = tag.on(.command(.rename("Sofa"), token: 1))
        #expect(tag.lastRequest == .rename("Sofa"))
        _ = tag.on(.command(.batteryStatus, token: 2))
        #expect(tag.confirmAndAnswer(SampleTag.configuration).ends == [])
        #expect(tag.lastRequest == .disconnect())
        #expect(tag.confirmAndAnswer().first == .end(1, .success(.done)))
        let connections = tag.on(.linkDown(SampleTag.linkError)).connections
        #expect(connections.map(\.state) == [.preparingToConnect])
    }

    @Test("succeeds also if the link goes down instead of the second response")
    func renamedInHaste() {
        for isWritten in [true, false] {
            var tag = SessionFixture(in: .connected)
            _ = tag.on(.command(.rename("Sofa"), token: 1))
            if isWritten { _ = tag.on(.written) }
            _ = tag.answer(id: 5)
            #expect(tag.on(.linkDown(SampleTag.linkError)).first == .end(1, .success(.done)))
        }
    }

    @Test("has an unknown effect if the link goes down before the first response")
    func renameLost() {
        var tag = SessionFixture(in: .connected)
        _ = tag.on(.command(.rename("Sofa"), token: 1))
        #expect(tag.on(.linkDown(SampleTag.linkError)).first == .end(1, .linkLost))
    }

    @Test(
        "accepts 1 to 21 bytes of UTF-8 that differ from the current name",
        arguments: [
            ("", false), ("a", true), (String(repeating: "a", count: 21), true),
            (String(repeating: "a", count: 22), false),
            (String(repeating: "é", count: 10) + "a", true), (String(repeating: "é", count: 11), false),
            ("Desk", false),
            ("desk", true),
        ])
    func name(name: String, isAccepted: Bool) {
        var tag = SessionFixture(in: .connected)
        let actions = tag.on(.command(.rename(name), token: 1))
        #expect(actions.writes == (isAccepted ? 1 : 0))
        #expect(actions.ends == (isAccepted ? [] : [1]))
        if !isAccepted { #expect(actions == [.end(1, .invalidParameter)]) }
    }

    @Test("knows the current name from the tag's configuration and from a renaming")
    func presentName() {
        var unknown = SessionFixture(in: .configuring)
        _ = unknown.confirmAndAnswer()
        #expect(unknown.on(.command(.rename("Desk"), token: 1)).writes == 1)
        #expect(unknown.confirmAndAnswer().ends == [])
        #expect(unknown.confirmAndAnswer().ends == [1])
        #expect(unknown.on(.command(.rename("Desk"), token: 2)) == [.end(2, .invalidParameter)])
    }
}
