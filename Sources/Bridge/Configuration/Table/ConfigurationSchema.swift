/// The JSON schema (draft 7) of the configuration file, generated from the table of keys.
enum ConfigurationSchema {
    /// The text of `config/jacquard2mqtt.schema.json`.
    static var text: String {
        let check = "jacquard2mqtt check-config --config FILE"
        let document: SchemaNode = [
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "Configuration of jacquard2mqtt",
            "description": .string("All keys are optional. The program checks more than this schema: \(check)"),
            "type": ["object", "null"],
        ]
        return (document + keys(below: "", of: Settings.keyDescriptions) + ["definitions": .definitions]).text() + "\n"
    }

    /// The words about the keys of one section, or of an item of a list.
    private static func keys(below parent: String, of keys: [KeyDescription]) -> SchemaNode {
        let children = keys.filter { $0.parent == parent }
        let required = children.filter { $0.requirement != nil }.map { SchemaNode.string($0.name) }
        var relations: [KeyRelation] = []
        if case .section(_, let list)? = keys.first(where: { $0.path == parent })?.kind { relations = list }
        return ["additionalProperties": false] + (required.isEmpty ? [:] : ["required": .list(required)])
            + words(relations)
            + ["properties": .object(children.map { (key: $0.name, value: schema(of: $0, in: keys)) })]
    }

    private static func schema(of key: KeyDescription, in keys: [KeyDescription]) -> SchemaNode {
        let description: SchemaNode = ["description": .string(key.sentence)]
        switch key.kind {
        case .value:
            return description + key.schema + (key.defaultValue.map { ["default": $0] } ?? [:])
        case .section(let hasSwitch, _):
            return description + ["type": hasSwitch ? ["object", "boolean", "null"] : ["object", "null"]]
                + Self.keys(below: key.path, of: keys)
        case .list(let items, let limit):
            return description + ["type": ["array", "null"]]
                + (limit.map { ["maxItems": .integer($0)] } ?? [:])
                + ["items": ["type": "object"] + Self.keys(below: "", of: items)]
        }
    }

    private static func words(_ relations: [KeyRelation]) -> SchemaNode {
        var exclusive: [SchemaNode] = []
        var dependencies: [(key: String, value: SchemaNode)] = []
        for relation in relations {
            switch relation {
            case .exclusive(let first, let second):
                let both: SchemaNode = [.string(first), .string(second)]
                exclusive.append(["type": "object", "required": both])
            case .together(let first, let second):
                dependencies.append((first, [.string(second)]))
                dependencies.append((second, [.string(first)]))
            }
        }
        let not: SchemaNode =
            switch exclusive.count {
            case 0: [:]
            case 1: ["not": exclusive[0]]
            default: ["allOf": .list(exclusive.map { ["not": $0] })]
            }
        return not + (dependencies.isEmpty ? [:] : ["dependencies": .object(dependencies)])
    }
}
