import Text

/// Aligns words in columns.
public struct TextTable: Hashable, Sendable {
    /// The titles of the columns.
    let titles: [String]
    /// The title of the column whose words are states and have their colours; nil: none.
    let stateTitle: String?
    /// The words of each row. Empty and missing words are shown as `-`.
    public var rows: [[String]]

    /// The columns of a shortened word, at least.
    private static let narrowest = 8
    private static let gap = 2

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - titles: the titles of the columns.
    ///   - state: the title of the column whose words have the colours of states.
    ///   - rows: the words of each row.
    public init(titles: [String], state: String? = nil, rows: [[String]] = []) {
        self.titles = titles
        stateTitle = state
        self.rows = rows
    }

    /// The titles and the rows without colours. Each column is as wide as its widest word; two blanks separate columns.
    public var lines: [String] { lines(in: .plain).map(\.text) }

    /// The titles and the rows.
    ///
    /// Words come from tags and other programs, so control characters are escaped. Wide characters take two columns. If the
    /// terminal is too narrow, the words of the widest columns are shortened, except those of the first one.
    ///
    /// - Parameter style: what the output can show.
    /// - Returns: the lines.
    public func lines(in style: TerminalStyle) -> [StyledLine] {
        let meter = ColumnMeter()
        let cells = [titles] + rows.map { row in titles.indices.map { Self.cell(row, $0) } }
        let natural = titles.indices.map { column in cells.map { meter.columns(of: $0[column]) }.max() ?? 0 }
        let widths = widths(natural, in: style.columns)
        return cells.enumerated().map { index, row in
            var line = StyledLine()
            var blanks = 0
            for (column, cell) in row.enumerated() {
                let text = meter.shortened(cell, to: widths[column])
                let tone: Tone? =
                    index == 0 ? .emphasis : titles[column] == stateTitle ? Tone(state: cell) : nil
                line.append(String(repeating: " ", count: blanks))
                line.append(text, tone)
                blanks = widths[column] - meter.columns(of: text) + Self.gap
            }
            return line
        }
    }

    /// Takes columns from the widest ones until the line fits, or until none can be narrower; from the states last.
    private func widths(_ natural: [Int], in limit: Int?) -> [Int] {
        var widths = natural
        guard let limit else { return widths }
        var excess = widths.reduce(0, +) + Self.gap * (widths.count - 1) - limit
        let others = widths.indices.dropFirst()
        for columns in [others.filter { titles[$0] != stateTitle }, Array(others)] {
            while excess > 0, let widest = columns.max(by: { widths[$0] < widths[$1] }),
                widths[widest] > Self.narrowest
            {
                widths[widest] -= 1
                excess -= 1
            }
        }
        return widths
    }

    private static func cell(_ row: [String], _ column: Int) -> String {
        guard row.indices.contains(column), !row[column].isEmpty else { return "-" }
        return DisplayText.escaped(row[column])
    }
}
