// SPDX-License-Identifier: Apache-2.0

/// A throw-away RSA key of 2,048 bits that nothing trusts.
enum RSAKey {
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCkWOcQTFgUpnKN
        se9eouuYQvkF7kV+PYPPBco/88cPlfqhIkfSxdftLZ31D+k1WjhZlVNdC0kVkji8
        0vYELZ7Mfif0r5BgU8nfzqFJWDN4tJiC8PT+pvsANpXHBbTdxhMWTWJ1AbojlOrO
        tD21VQVjCRmV5L2ugUd+5fko4DzORtPNgA0jvAXrkS1cTGi4CWcQ+Jsp6BSqQwZS
        73bn5fffTAEBpTWNVUbRn4282aEWJlZqYCx/0Wn+GF3xl6bAuGf9kEi2XM2EEblo
        OB5fXJRMA4jnaR1wC0grJ9+9Ac565UlJZovrAz0t90Dt9xqDIpNEThiE4tpoL254
        JF6aGxtNAgMBAAECggEAGeg1zHjsbZzrc/C3tihikScFkGzGIadaztiv0DMCjy9q
        SdpYjh5H8oh9XPM8JP/q4BxM/t7Xj4H0Vbe/tlrmrH+6lrTSQo0SxqgQ/rnbq0x0
        ujd3t2jlKlxwceYxY8Bko+BhA+bYy+EevqTlEV+ssLbvhJSBXi/c8GEaTNpEW5PH
        /iaPi29v+3aIc5A4tQobPM87cjtFgY1FTrU2hxOJsANq5eBlDMixrpIz+TISr/U+
        yweTjOHkulEhQEKQDXHOBswSsybPs3bxT8oJdZ6FqVJImaHzvGElUMr5jq4DCmfH
        y5vM49w0V+Gcru6CRuYpZJjm/lcg6X/cn75lGy4Y1QKBgQDTtuwpuSH8OWZ2tPfl
        guguPFmbb35TLzEq0mmXQtpvbMHYSFgcfuOa4u7ecTStMTk6h11SeKatMkm4niFE
        IHkxAvZSkjUDfffi3L/jPpMTdwu5ze5Q3TzLOqM5Zls3vrVIuDUKZusi4nTAhha4
        2Vi8oSKGICKaYom6NtTyMHAg5wKBgQDGuYQPxbeqBg72VdZmx1XMP2K0EGGVv7DG
        EWwYx5x50E3F3rYdz0lklbV0KTlcnOSdmiY/ZAfVGZHYzws6zf50GIIWE6oJDoju
        cG0fmzMh7d+AgAeQYAkmPI9lQCL3Ku7NNrt+AXPoI3d8QQqzQMLE2fnMpROHWPZo
        qWjgRNC3qwKBgQCznQzemOHsSgZTz1RAsr6n+ytKY1yY1gCwg7JxUZZf0bTi+P1H
        r58JWF2u+fvms0wKC61wukstxOwmZIF0ethWbFzt0HyJaeVT4lQpRn0glm6sQ7lb
        gVaCVE0F9YCN2o2SFDVrjcUO43CJpTjBuiM+ZLYVdE3nDJIsGTiv/8ghIQKBgFzL
        xlJDJnebqqL3BE4sKPFea+3fdGIkCB0Fh6+ujnAHiDmsvOgAoqn4iqn6khGgJdU+
        ZTvWrx2geg1+6SSFipuV0jES76SZB/Inx50psN/YHzT3FBEj90HGp8NFBs7aWnaz
        Zyv467Hr1eDM0n1P8WNQ0ifwscTTEwVejl2jZL9PAoGAdWmiilCivzH/D+DX1EHK
        lL3ZM0H8Y2WGf6OYocYiY+l4ktSe3lWybUf1U4s54VmdJ1NLBcLqYm1MrMGJkkG8
        q+pv8qdPU3TlM7GId2fFuCOhmaZYnumjDe1Hc5vK3crZ5DcgULUEL34pbC906Vvg
        mUdMZ6q5FWU5lkCdyz9wZro=
        -----END PRIVATE KEY-----
        """
}
