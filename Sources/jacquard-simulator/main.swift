import TagSimulator

SimulatorProgram.main()
