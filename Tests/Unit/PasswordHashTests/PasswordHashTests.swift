import Testing

@testable import PasswordHash

@Suite("Password hashes")
struct PasswordHashTests {
    @Test("are yescrypt, differ each time, and match only their password")
    func roundTrip() throws {
        let one = try #require(PasswordHash.make("correct horse"))
        let other = try #require(PasswordHash.make("correct horse"))
        #expect(one.hasPrefix("$y$"))
        #expect(one != other)
        #expect(PasswordHash.isValid(one))
        #expect(PasswordHash.matches("correct horse", one))
        #expect(!PasswordHash.matches("correct horse ", one))
        #expect(!PasswordHash.matches("", one))
    }

    @Test(
        "reject texts that are no hashes",
        arguments: ["", "secret", "*", "x", "$", "$nothing$abc", "$y$", "$y$j9T$salt:with$colon", "$y$j9T$ space$x"])
    func invalid(text: String) {
        #expect(!PasswordHash.isValid(text) || !PasswordHash.matches("secret", text))
        #expect(!PasswordHash.matches("", text))
    }

    @Test("never match a password with a zero byte")
    func zero() throws {
        let hash = try #require(PasswordHash.make("a"))
        #expect(!PasswordHash.matches("a\0b", hash))
        #expect(PasswordHash.make("a\0b") == nil)
    }

    @Test("are compared completely")
    func comparison() {
        #expect(PasswordHash.isEqual("abc", "abc"))
        #expect(!PasswordHash.isEqual("abc", "abd"))
        #expect(!PasswordHash.isEqual("abc", "ab"))
        #expect(!PasswordHash.isEqual("", "a"))
    }
}

@Suite("Hashes of secrets")
struct SecretHashTests {
    @Test("are SHA-256 in hexadecimal digits")
    func vectors() {
        // Source: FIPS 180-2, appendix B.1; and that of no bytes.
        #expect(SecretHash.of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(SecretHash.of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }
}
