import TagFirmware

/// What `--help` and `help` print.
enum Usage {
    static let options = """
        usage: jacquard-simulator [OPTION]...

        Simulates Jacquard tags behind a fake org.bluez. Without --bus it starts a bus of its own and prints its address.

          --tags N                        how many tags (1)
          --serials 0001,0002             their serials; the others are 0001 and on
          --bus ADDRESS                   the bus to be org.bluez on, such as unix:path=/run/bus
          --adapters N                    how many adapters, hci0 and on (1)
          --profile PROFILE               \(profiles) (stock)
          --scenario FILE                 commands to carry out, one a line, and `wait SECONDS` between them
          --mtu N                         the ATT MTU of every link, 23 to 517 (247)
          --no-acquire                    refuse AcquireNotify, so that clients fall back on StartNotify
          --lossy                         drop values that find the client's socket full, as bluetoothd does
          --write-without-response-only   tags with firmware before 1.43
          --pairing                       tags that ask for pairing and let nobody in without
          --gestures-every SECONDS        let the tags make gestures by themselves
          --quick                         shorten the long waits of bluetoothd, for tests
          --json                          print one JSON object a line
          --stdio [--serial 0001]         one tag on standard input and output, for another radio
          --help                          this
        """

    private static let profiles = TagProfile.allCases.map(\.rawValue).joined(separator: ", ")
}
