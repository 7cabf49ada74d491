import Simulator
import Terminal

CommandProgram.main(SimulatorProgram.table)
