import Testing

@testable import Bridge

@Suite("Departures")
struct DeparturesTests {
    @Test("of a tag are taken without those of other tags and of former names")
    func ofOneTag() {
        var departures = Departures()
        let now = Scene.beginning.instant
        departures.append(.tag(.tag003R, nil), retainedTopics: ["a"], at: now)
        departures.append(.tag(TagEntry(id: .known("0001"), serial: "0001"), nil), retainedTopics: ["b"], at: now)
        departures.append(.formerInstance("cellar"), retainedTopics: ["c"], at: now)
        #expect(departures.take(.tag003R).map(\.retainedTopics) == [["a"]])
        #expect(departures.take(.tag003R).isEmpty)
        #expect(departures.takeAll().map(\.retainedTopics) == [["b"], ["c"]])
        #expect(departures.isEmpty)
    }
}
