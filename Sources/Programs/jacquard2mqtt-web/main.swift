import Terminal
import Web

CommandProgram.main(WebProgram.table)
