import Simulator

SimulatorProgram.main()
