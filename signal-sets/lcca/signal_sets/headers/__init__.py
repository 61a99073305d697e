"""Headers: how signals of the network travel on the wire. The vocabulary, the codecs and a catalogue of known ones."""
