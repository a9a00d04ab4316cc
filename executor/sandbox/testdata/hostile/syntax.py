# class: runtime_error
# exit: 1
# detail: SyntaxError
def f(:
