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

    static let commands = """
        TAG is a serial, an address, or * for all tags:
          gesture TAG NAME|cycle [COUNT [RATE]]     \(GestureWord.allowed), or a number
          touch TAG [V,V,...] [COUNT [RATE]]        proximity and twelve lines, or a moving finger
          battery TAG LEVEL [charging|not_charging]
          attach TAG GEAR                           \(gear)
          detach TAG
          out-of-range TAG, in-range TAG
          sleep TAG, button TAG                     the button wakes it
          fault TAG FAULT [once]                    drop-response, delay MS, double, wrong-id, status N, malformed,
                                                    truncated, no-body, lost-fragment, hang, no-write-with-response,
                                                    clear
          lose-bond TAG                             the host keeps its half; pair anew
          adapter on|off|plug|unplug [NUMBER]
          bluez ignore MEMBER                       it is never answered
          bluez refuse MEMBER ERROR [TEXT]          such as: refuse Connect Failed le-connection-abort-by-local
          bluez TROUBLE                             hide-services, resolve-nothing, end-discovery,
                                                    remove-devices, close-descriptors, clear
          crash-bluez [MS]                          and come back after a second, or MS
          list, help, quit
        """

    private static let gear = SimulatedGear.all.map(\.word).joined(separator: ", ")
}
