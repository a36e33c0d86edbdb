# A launch says that it is the one after it.
s/STEP\(1, /STEP(2, /
