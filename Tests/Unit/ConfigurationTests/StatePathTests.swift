import Testing

@testable import Configuration

@Suite("Path of the state folder")
struct StatePathTests {
    @Test(
        "the state folder is the option's, the service manager's, or the standard one",
        arguments: [
            ("/a", ["STATE_DIRECTORY": "/b"], "/a"), (nil, ["STATE_DIRECTORY": "/b"], "/b"),
            (nil, ["STATE_DIRECTORY": ""], "/var/lib/jacquard2mqtt"), (nil, [:], "/var/lib/jacquard2mqtt"),
        ] as [(String?, [String: String], String)])
    func path(option: String?, environment: [String: String], path: String) {
        #expect(StatePath.path(option: option, environment: environment) == path)
    }
}
