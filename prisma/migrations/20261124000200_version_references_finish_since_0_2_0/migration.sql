-- Contracts: DROP CONSTRAINT secret_version.secret_version_content, for servers since 0.2.0

-- What schema.prisma cannot say.

-- A version may refer to another one for its value from here on. secret_version_reference still checks each one.
ALTER TABLE "secret_version" DROP CONSTRAINT "secret_version_content";
