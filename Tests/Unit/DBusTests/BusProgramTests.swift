import Testing

@testable import DBus

@Suite("A bus behind a program")
struct BusProgramTests {
    @Test("Arguments are escaped, so that libdbus passes them on as they are")
    func address() {
        let program = BusProgram(path: "/usr/bin/ssh", arguments: ["-T", "-o", "BatchMode=yes", "pi@hall,x:1 %"])
        #expect(
            program.address
                == "unixexec:path=/usr/bin/ssh,argv0=/usr/bin/ssh,argv1=-T,argv2=-o,argv3=BatchMode%3dyes,argv4=pi%40hall%2cx%3a1%20%25"
        )
    }
}
