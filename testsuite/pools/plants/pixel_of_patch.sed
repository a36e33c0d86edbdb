# All pixels of a line of a patch are its first.
s/pixel % P::WIDE/0/
