import Foundation

@testable import Configuration

/// As much of JSON Schema (draft 7) as the schema of the configuration uses; a word that is not known here is an error.
struct JSONSchema {
    private let root: [String: Any]

    /// That of `config/`.
    static func delivered() throws -> JSONSchema {
        let path = ExampleConfiguration.path.replacing(".yaml", with: ".schema.json")
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
        return JSONSchema(root: object as? [String: Any] ?? [:])
    }

    /// The schema of each key that holds one value, by its dotted form.
    var leaves: [String: [String: Any]] { leaves(of: root, path: []) }

    /// The errors of a value; empty: none.
    func problems(with value: Any) -> [String] { problems(value, root, at: "") }

    private func leaves(of schema: [String: Any], path: [String]) -> [String: [String: Any]] {
        let schema = resolved(schema)
        // A list of words is one value; a list of sections has the keys of its items.
        if let items = schema["items"] as? [String: Any], items["properties"] != nil {
            return leaves(of: items, path: path + ["N"])
        }
        guard let properties = schema["properties"] as? [String: [String: Any]] else {
            return [path.joined(separator: "."): schema]
        }
        return properties.reduce(into: [:]) { all, property in
            all.merge(leaves(of: property.value, path: path + [property.key])) { first, _ in first }
        }
    }

    private func resolved(_ schema: [String: Any]) -> [String: Any] {
        guard let name = (schema["$ref"] as? String)?.split(separator: "/").last,
            let definition = (root["definitions"] as? [String: [String: Any]])?[String(name)]
        else { return schema }
        return definition.merging(schema) { $1 }
    }

    private func problems(_ value: Any, _ schema: [String: Any], at path: String) -> [String] {
        let schema = resolved(schema)
        return schema.keys.sorted().flatMap { word in
            check(word, schema[word] ?? NSNull(), value, schema).map { "\(path): \($0)" }
        } + children(value, schema, at: path)
    }

    private func children(_ value: Any, _ schema: [String: Any], at path: String) -> [String] {
        if let list = value as? [Any], let items = schema["items"] as? [String: Any] {
            return list.enumerated().flatMap { problems($1, items, at: "\(path).\($0)") }
        }
        guard let object = value as? [String: Any], let known = schema["properties"] as? [String: [String: Any]] else {
            return []
        }
        return object.sorted { $0.key < $1.key }.flatMap { key, value in
            known[key].map { problems(value, $0, at: "\(path).\(key)") } ?? ["\(path): unknown \(key)"]
        }
    }

    private func check(_ word: String, _ rule: Any, _ value: Any, _ schema: [String: Any]) -> [String] {
        let isMet: Bool
        switch word {
        case "type": isMet = (rule as? [String] ?? [rule as? String ?? ""]).contains { Self.isOf($0, value) }
        case "enum": isMet = (rule as? [Any] ?? []).contains { Self.isSame($0, value) }
        case "minimum": isMet = Self.number(value).map { $0 >= (rule as? Double ?? 0) } ?? true
        case "maximum": isMet = Self.number(value).map { $0 <= (rule as? Double ?? 0) } ?? true
        case "minLength": isMet = (value as? String).map { $0.unicodeScalars.count >= (rule as? Int ?? 0) } ?? true
        case "maxLength": isMet = (value as? String).map { $0.unicodeScalars.count <= (rule as? Int ?? 0) } ?? true
        case "minItems": isMet = (value as? [Any]).map { $0.count >= (rule as? Int ?? 0) } ?? true
        case "maxItems": isMet = (value as? [Any]).map { $0.count <= (rule as? Int ?? 0) } ?? true
        case "pattern": isMet = (value as? String).map { Self.matches($0, rule as? String ?? "") } ?? true
        case "required": isMet = (value as? [String: Any]).map { Self.has($0, rule) } ?? true
        case "dependencies":
            let object = value as? [String: Any] ?? [:]
            isMet = (rule as? [String: [String]] ?? [:]).allSatisfy {
                object[$0.key] == nil || Self.has(object, $0.value)
            }
        case "anyOf":
            isMet = (rule as? [[String: Any]] ?? []).contains { problems(value, $0, at: "").isEmpty }
        case "not": isMet = !problems(value, rule as? [String: Any] ?? [:], at: "").isEmpty
        case "allOf": return (rule as? [[String: Any]] ?? []).flatMap { problems(value, $0, at: "") }
        case "properties", "items", "additionalProperties", "description", "default", "title", "definitions", "$schema",
            "$ref":
            isMet = true
        default: return ["the test does not know \(word)"]
        }
        return isMet ? [] : ["not what \(word) says: \(rule)"]
    }

    private static func has(_ object: [String: Any], _ keys: Any) -> Bool {
        (keys as? [String] ?? []).allSatisfy { object[$0] != nil }
    }

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        text.range(of: pattern, options: .regularExpression) != nil
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "null": value is NSNull
        case "boolean": value is Bool
        case "number": number(value) != nil
        case "integer": number(value).map { $0 == $0.rounded() } ?? false
        default: false
        }
    }

    /// A number that is no truth value; those of the schema are `NSNumber`.
    private static func number(_ value: Any) -> Double? {
        switch value {
        case is Bool: nil
        case let value as Int: Double(value)
        case let value as Double: value
        default: nil
        }
    }

    private static func isSame(_ left: Any, _ right: Any) -> Bool {
        if let left = left as? String, let right = right as? String { return left == right }
        if let left = number(left), let right = number(right) { return left == right }
        return false
    }
}

extension ConfigurationNode {
    /// As an editor reads it: the core schema of YAML 1.2 (section 10.3) makes numbers and words of what is not quoted.
    var json: Any {
        switch content {
        case .section(let entries):
            Dictionary(entries.map { ($0.key, $0.value.json) }) { first, _ in first }
        case .list(let items): items.map(\.json)
        case .unusable: NSNull()
        case .scalar(let text, let isPlain): isPlain ? Self.plain(text) : text
        }
    }

    private static func plain(_ text: String) -> Any {
        switch text.lowercased() {
        case "", "~", "null": return NSNull()
        case "true": return true
        case "false": return false
        default: break
        }
        guard text.wholeMatch(of: /[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/) != nil else { return text }
        if let number = Int(text) { return number }
        return Double(text) ?? text
    }
}
