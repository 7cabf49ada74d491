import Text

/// Aligns rows of words in columns.
struct TextTable: Hashable, Sendable {
    /// What stands above each column.
    let titles: [String]
    /// One word a column; what is missing at the end of a row is empty, and an empty word is shown as `-`.
    var rows: [[String]] = []

    /// The title and the rows, each column as wide as its widest word, two blanks between them.
    ///
    /// The words come from tags, from the air and from other programs: what could move the cursor is escaped.
    var lines: [String] {
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
