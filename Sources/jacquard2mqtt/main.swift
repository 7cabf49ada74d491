import Daemon

CommandLineProgram.main()
