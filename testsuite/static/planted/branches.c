// A planted fault: two branches are one.
int sign_of(int number);

int sign_of(int number)
{
    if (number > 0)
        return 1;
    else if (number < 0)
        return 1;
    return 0;
}
