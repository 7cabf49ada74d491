/// Finds the known word closest to a misspelled one.
public enum Spelling {
    /// The candidate that differs by the fewest letters, capital or small: at most two, and at most half of the word. Two swapped
    /// letters count as one.
    public static func nearest(to word: String, in candidates: [String]) -> String? {
        let letters = Array(word.lowercased())
        let limit = min(2, letters.count / 2)
        let close = candidates.filter { abs($0.count - letters.count) <= limit }
        let distances = close.map { (word: $0, distance: distance(letters, Array($0.lowercased()))) }
        return distances.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.word
    }

    /// ` (did you mean WORD?)`, or nothing.
    public static func hint(for word: String, in candidates: [String]) -> String {
        nearest(to: word, in: candidates).map { " (did you mean \($0)?)" } ?? ""
    }

    /// The number of insertions, deletions, replacements and swaps of neighbors (optimal string alignment).
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var earlier: [Int] = []
        var previous = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var least = min(previous[j] + (left[i] == right[j] ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    least = min(least, earlier[j - 1] + 1)
                }
                row.append(least)
            }
            (earlier, previous) = (previous, row)
        }
        return previous[right.count]
    }
}
