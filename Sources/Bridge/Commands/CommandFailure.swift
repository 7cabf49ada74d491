import JSON
import JacquardProtocol

/// The error in a command's result.
struct CommandFailure: Error, Hashable, Sendable {
    /// The error codes of the contract.
    enum Code: String, Hashable, Sendable, CaseIterable, Encodable {
        case invalidJSON = "invalid_json"
        case invalidArgument = "invalid_argument"
        case unknownCommand = "unknown_command"
        case unknownTag = "unknown_tag"
        case unsupported
        case tagOffline = "tag_offline"
        case expired
        case timeout
        case linkLost = "link_lost"
        case tagError = "tag_error"
        case busy
        case retainedRejected = "retained_rejected"
        case payloadTooLarge = "payload_too_large"
        case notPermitted = "not_permitted"
        case inUse = "in_use"
        case internalDefect = "internal"
    }

    let code: Code
    let text: String
    let hint: String?
    /// Whether the same command may succeed later without a change of configuration or hardware.
    let isRetryable: Bool

    init(_ code: Code, _ text: String, hint: String? = nil, isRetryable: Bool? = nil) {
        self.code = code
        self.text = text
        self.hint = hint
        self.isRetryable = isRetryable ?? code.isUsuallyRetryable
    }

    /// A key has an invalid value.
    static func invalid(_ key: String, is value: JSONValue, mayBe allowed: String) -> CommandFailure {
        CommandFailure(.invalidArgument, "\(key.quoted) is \(value.quoted); it may be \(allowed)")
    }
}

extension CommandFailure.Code {
    fileprivate var isUsuallyRetryable: Bool {
        switch self {
        case .tagOffline, .expired, .timeout, .linkLost, .busy, .inUse: true
        default: false
        }
    }
}

extension CommandFailure: Encodable {
    private enum CodingKeys: String, CodingKey {
        case code, text, hint, retryable
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(text, forKey: .text)
        try container.encode(OrNull(wrappedValue: hint), forKey: .hint)
        try container.encode(isRetryable, forKey: .retryable)
    }
}
