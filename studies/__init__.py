"""Studies: subjects that each have a folder of their own, and can be taken out; `lcca.inputs.studies` finds them."""
