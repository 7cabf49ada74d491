import Text

/// Aligns words in columns.
public struct TextTable: Hashable, Sendable {
    /// The titles of the columns.
    let titles: [String]
    /// The words of each row. Empty and missing words are shown as `-`.
    public var rows: [[String]]

    /// Creates a table.
    public init(titles: [String], rows: [[String]] = []) {
        self.titles = titles
        self.rows = rows
    }

    /// The titles and the rows. Each column is as wide as its widest word; two blanks separate columns.
    ///
    /// Words come from tags and other programs, so control characters are escaped.
    public var lines: [String] {
        let cells = [titles] + rows.map { row in titles.indices.map { Self.cell(row, $0) } }
        let widths = titles.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            var line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(
                separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    private static func cell(_ row: [String], _ column: Int) -> String {
        guard row.indices.contains(column), !row[column].isEmpty else { return "-" }
        return DisplayText.escaped(row[column])
    }
}
