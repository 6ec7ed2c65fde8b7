"""Check an installation and report problems with their fixes.

    flask --app app doctor        python -m app.doctor, when Flask does not start

A check that fails does not stop the others. Checks change nothing: they load no model, create no table, and call no
server unless asked to.
"""
