"""Other processes: started, watched and ended in one place (`child`), as workers (`workers`) or as one object."""
