/// Finds the known word closest to a misspelled one.
public enum Spelling {
    /// The candidate that differs by the fewest letters, capital or small: at most two, and at most half of the word.
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

    /// Levenshtein's distance: insertions, deletions and replacements.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (i, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in right.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
