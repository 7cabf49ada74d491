import Terminal

CommandProgram.main(Program.table)
