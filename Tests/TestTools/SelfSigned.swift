// SPDX-License-Identifier: Apache-2.0

/// A throw-away certificate for `localhost` with its key, which nothing trusts.
package enum SelfSigned {
    package static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBlDCCATugAwIBAgIUOnge2pSGgsHPa202vVFDelRdgBAwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTAyMDk1MFoYDzIxMjYxMDI4
        MDIwOTUwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAASg8rxMOERv/N4h05Bv6WTO4FD5g/u6sypV5e5R5CijYDFpppHsHu9S
        3KShzhWsh2kalEN5TV8Ijqf0Q5BQMiNfo2kwZzAdBgNVHQ4EFgQU21SkjL/smwwL
        /e+EKqexCE20+qowHwYDVR0jBBgwFoAU21SkjL/smwwL/e+EKqexCE20+qowDwYD
        VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
        RwAwRAIga2+eCJ3F0MfXq7Bn1UkeEKmZlZADXxVQuxCHtw82wfkCIAmXp2JG6vRu
        BQPGwZiDoZPu2A6WcMNZV3nLZVPEgmUC
        -----END CERTIFICATE-----
        """

    package static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcQEyyxi18Vk5lsN2
        +uyoinNVlighYQ/6ivEKXGRElZGhRANCAASg8rxMOERv/N4h05Bv6WTO4FD5g/u6
        sypV5e5R5CijYDFpppHsHu9S3KShzhWsh2kalEN5TV8Ijqf0Q5BQMiNf
        -----END PRIVATE KEY-----
        """
}
