"""Other processes: started, watched and ended in one place (`child`); pools of them; one object in another process."""
