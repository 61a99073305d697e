"""Work in other processes: started, watched and ended in one place."""
