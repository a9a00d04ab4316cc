# class: runtime_error
# exit: 1
# detail: ZeroDivisionError
1 / 0
