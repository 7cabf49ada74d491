import JacquardProtocol

/// The six curves of a session as an SVG picture: acceleration above, rotation below.
struct MotionPicture {
    private let file: MotionFile
    private let times: [Double]
    private let values: [[Double]]

    private static let width = 1000.0
    private static let height = 220.0
    private static let left = 60.0
    /// Colours that people with colour blindness can distinguish. Source: Okabe and Ito, "Color Universal Design".
    private static let colors = ["#D55E00", "#009E73", "#0072B2"]
    /// The number of columns. Each has the least and the greatest of its samples, so that no peak is missing.
    private static let columns = 1000

    init(_ file: MotionFile) {
        self.file = file
        let samples = file.actions.flatMap(\.samples)
        let first = samples.first?.ticks ?? 0
        times = samples.map { Double(MotionTable.microseconds($0.ticks, since: first)) / 1_000_000 }
        let rows = samples.map { $0.values(file.configuration) }
        values = (0..<6).map { column in rows.map { $0[column] } }
    }

    /// The lines of the document. It contains no text of the file.
    var lines: [String] {
        let (width, height) = (Int(Self.left + Self.width + 20), Int(2 * (Self.height + 50) + 20))
        return [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(width) \#(height)" font-family="sans-serif" "#
                + #"font-size="12">"#,
            #"<rect width="\#(width)" height="\#(height)" fill="white"/>"#,
        ] + panel(0, "acceleration in g", top: 30)
            + panel(3, "rotation in degrees per second", top: 30 + Self.height + 50)
            + ["</svg>"]
    }

    private func panel(_ first: Int, _ title: String, top: Double) -> [String] {
        let shown = values[first..<(first + 3)]
        let limit = Self.limit(shown.joined().reduce(0) { max($0, abs($1)) })
        let middle = top + Self.height / 2
        let end = times.max() ?? 0
        func text(_ x: Double, _ y: Double, _ text: String, _ more: String = "") -> String {
            #"<text x="\#(Self.number(x))" y="\#(Self.number(y))"\#(more)>\#(text)</text>"#
        }
        var lines = [
            text(Self.left, top - 8, title),
            #"<path d="M\#(Self.number(Self.left)) \#(Self.number(top))v\#(Self.number(Self.height))"#
                + #"M\#(Self.number(Self.left)) \#(Self.number(middle))h\#(Self.number(Self.width))" stroke="gray" fill="none"/>"#,
            text(Self.left - 6, top + 5, Self.number(limit), #" text-anchor="end""#),
            text(Self.left - 6, middle + 4, "0", #" text-anchor="end""#),
            text(Self.left - 6, top + Self.height + 4, "-" + Self.number(limit), #" text-anchor="end""#),
            text(Self.left + Self.width, top + Self.height + 16, "\(Self.number(end)) s", #" text-anchor="end""#),
        ]
        for (index, curve) in shown.enumerated() {
            let name = text(
                Self.left + Self.width - 60 + Double(index) * 20, top - 8, ["x", "y", "z"][index],
                #" fill="\#(Self.colors[index])""#)
            lines.append(name)
            guard !curve.isEmpty else { continue }
            let points = reduced(curve).map { position, value in
                let x = Self.left + (end > 0 ? times[position] / end : 0) * Self.width
                return "\(Self.number(x)),\(Self.number(middle - value / limit * Self.height / 2))"
            }
            lines.append(
                #"<polyline fill="none" stroke="\#(Self.colors[index])" points="\#(points.joined(separator: " "))"/>"#)
        }
        return lines
    }

    /// The least and the greatest value of each column, in their order.
    private func reduced(_ curve: [Double]) -> [(position: Int, value: Double)] {
        guard curve.count > 2 * Self.columns else { return curve.enumerated().map { ($0.offset, $0.element) } }
        let size = (curve.count + Self.columns - 1) / Self.columns
        return stride(from: 0, to: curve.count, by: size).flatMap { start in
            let column = start..<min(start + size, curve.count)
            let positions = [column.min { curve[$0] < curve[$1] }, column.max { curve[$0] < curve[$1] }].compactMap {
                $0
            }
            return positions.sorted().map { ($0, curve[$0]) }
        }
    }

    /// A round number that is not less than a value.
    private static func limit(_ value: Double) -> Double {
        [0.5, 1, 2, 4, 8, 16, 31.25, 62.5, 125, 250, 500, 1000].first { $0 >= value } ?? 2000
    }

    /// A number with at most two digits after its point.
    private static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let text = String(hundredths.magnitude % 100 + 100).dropFirst()
        let sign = hundredths < 0 ? "-" : ""
        return hundredths % 100 == 0
            ? "\(sign)\(hundredths.magnitude / 100)" : "\(sign)\(hundredths.magnitude / 100).\(text)"
    }
}
