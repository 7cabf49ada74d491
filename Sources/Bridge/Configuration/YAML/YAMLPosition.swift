import CYAML

/// A place in a YAML text.
struct YAMLPosition: Hashable, Comparable, Sendable {
    /// The first line is 1.
    let line: Int
    /// In characters; the first column is 1.
    let column: Int

    /// The beginning of the text.
    static let start = YAMLPosition(line: 1, column: 1)

    /// In reading order.
    static func < (left: YAMLPosition, right: YAMLPosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

extension YAMLPosition {
    /// libyaml counts from 0.
    init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }

    /// The place of a byte.
    ///
    /// - Parameters:
    ///   - offset: counts bytes from 0; past the end is taken as the end.
    ///   - bytes: the whole text, UTF-8 up to the offset.
    init(offset: Int, in bytes: [UInt8]) {
        let before = bytes.prefix(max(offset, 0))
        let newline = UInt8(ascii: "\n")
        let lineStart = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
        self.init(
            line: before.count { $0 == newline } + 1,
            column: before[lineStart...].count { !UTF8.isContinuation($0) } + 1)
    }
}
