import Text

@testable import Configuration

/// The bytes of a configuration file: a configuration, or findings that name a place; never a crash.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let yaml = Array(UnsafeBufferPointer(start: start, count: count))
    let result = ConfigurationReader.read(
        WrittenConfiguration(yaml: yaml), file: "/etc/fuzz.yaml", environment: [:], hostName: "attic",
        readPassword: { _ throws(Rejection) in Secret(value: "word") })
    switch result {
    case .success(let configuration):
        _ = configuration.notices
        require(!configuration.instance.isEmpty, "an instance without a name")
        require(Set(configuration.tags.map(\.id)).count == configuration.tags.count, "two tags have one id")
    case .failure(let errors): require(!errors.lines.isEmpty, "errors without a line")
    }
    return 0
}
