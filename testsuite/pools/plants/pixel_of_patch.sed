# All pixels of a line of a patch are its first.
s/own % Patches::WIDE/0/
