"""Control laws in Linux's kernel, by BPF."""
