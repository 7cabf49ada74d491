import JSON

/// Any bytes as JSON: nothing, or a value that comes back when it is written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let value = JSONValue(parsing: Array(UnsafeBufferPointer(start: start, count: count))) else { return 0 }
    require(JSONValue(parsing: JSONText.bytes(of: value)) == value, "another value came back")
    require(JSONValue(parsing: JSONText.indentedBytes(of: value)) == value, "another value came back from lines")
    return 0
}
