# A vector is taken from one operand, though it lies in two.
s/constexpr bool whole = .*;/constexpr bool whole = width % V == 0;/
